import type { JsonObject } from '../base/json.ts';
import type { Authenticator } from '../operations/authenticator.ts';
import { buildAgentCard, type SkillFacts } from '../protocol/v1/card.ts';
import type { ServedAgent } from './door.ts';
import { skillSchema } from './skill-schema.ts';

/**
 * The card of an agent whose doors stand below `url`. One entry per binding that is on, JSON-RPC first; capabilities
 * say what the server does: it streams, sends no pushes, and has no other card.
 */
export function agentCard(
  agent: ServedAgent,
  { url, authenticator }: { readonly url: string; readonly authenticator: Authenticator },
): JsonObject {
  const { provider, documentationUrl, iconUrl } = agent;
  const { securitySchemes, securityRequirements } = authenticator;
  return buildAgentCard({
    name: agent.name,
    description: agent.description,
    version: agent.version,
    interfaces: [
      { url: `${url}/a2a/jsonrpc`, binding: 'JSONRPC' },
      { url: `${url}/a2a/v1`, binding: 'HTTP+JSON' },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    skills: Object.entries(agent.skills).map(([id, skill]) => skillFacts(id, skill)),
    ...(provider === undefined ? {} : { provider }),
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    ...(iconUrl === undefined ? {} : { iconUrl }),
    ...(securitySchemes === undefined ? {} : { securitySchemes }),
    ...(securityRequirements === undefined ? {} : { securityRequirements }),
  });
}

function skillFacts(id: string, skill: ServedAgent['skills'][string]): SkillFacts {
  const { title, tags, examples, inputModes, outputModes } = skill;
  const inputSchema = skillSchema(skill, 'input');
  const outputSchema = skillSchema(skill, 'output');
  return {
    id,
    kind: skill.kind,
    description: skill.description,
    ...(title === undefined ? {} : { name: title }),
    ...(tags === undefined ? {} : { tags }),
    ...(examples === undefined ? {} : { examples }),
    ...(inputModes === undefined ? {} : { inputModes }),
    ...(outputModes === undefined ? {} : { outputModes }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}
