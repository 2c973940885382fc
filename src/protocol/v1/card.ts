import { assert } from '../../base/assert.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { SKILLS_EXTENSION_URI } from './names.ts';

/** What a card says of one skill. */
export interface SkillFacts {
  readonly id: string;
  /** The id when absent. */
  readonly name?: string;
  readonly description: string;
  /** The kind when empty: the protocol asks for one tag at least. */
  readonly tags?: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
  /** JSON Schemas of what the skill takes and returns. */
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  /** `task`: durable; `reply`: one message, no task. */
  readonly kind: 'task' | 'reply';
}

/** One door of the agent. `url` is absolute; order is preference. */
interface InterfaceFacts {
  readonly url: string;
  readonly binding: 'JSONRPC' | 'HTTP+JSON' | 'GRPC';
  readonly tenant?: string;
}

export interface CardFacts {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly interfaces: readonly InterfaceFacts[];
  readonly capabilities: {
    readonly streaming: boolean;
    readonly pushNotifications: boolean;
    readonly extendedAgentCard: boolean;
  };
  readonly skills: readonly SkillFacts[];
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
  /** `SecurityScheme` objects by name, in ProtoJSON. */
  readonly securitySchemes?: JsonObject;
  /** Each names the schemes of which all are needed, with their scopes; one of them is enough. */
  readonly securityRequirements?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly defaultInputModes?: readonly string[];
  readonly defaultOutputModes?: readonly string[];
}

const DEFAULT_MODES = ['text/plain', 'application/json'];

/**
 * A2A `AgentCard`. Equal facts give equal text, whatever the order in which maps of schemes were filled, so that an ETag is
 * stable over restarts and nodes. Schemas keep their author's order, which forms show. Fields follow the presence rules that signing asks for (A2A 1.0 §8.4.1).
 */
export function buildAgentCard(facts: CardFacts): JsonObject {
  assert(facts.interfaces.length > 0, 'a card names at least one interface');
  assert(facts.skills.length > 0, 'a card names at least one skill');
  const { provider, documentationUrl, iconUrl, securitySchemes, securityRequirements } = facts;
  return {
    name: facts.name,
    description: facts.description,
    supportedInterfaces: facts.interfaces.map(encodeInterface),
    ...(provider === undefined ? {} : { provider: { url: provider.url, organization: provider.organization } }),
    version: facts.version,
    ...(documentationUrl === undefined ? {} : { documentationUrl }),
    capabilities: encodeCapabilities(facts),
    ...(securitySchemes === undefined || isEmpty(securitySchemes) ? {} : { securitySchemes: sorted(securitySchemes) }),
    ...(securityRequirements === undefined || securityRequirements.length === 0
      ? {}
      : { securityRequirements: securityRequirements.map(encodeRequirement) }),
    defaultInputModes: facts.defaultInputModes ?? DEFAULT_MODES,
    defaultOutputModes: facts.defaultOutputModes ?? DEFAULT_MODES,
    skills: facts.skills.map(encodeSkill),
    ...(iconUrl === undefined ? {} : { iconUrl }),
  };
}

function encodeInterface(door: InterfaceFacts): JsonObject {
  return {
    url: door.url,
    protocolBinding: door.binding,
    ...(door.tenant === undefined ? {} : { tenant: door.tenant }),
    protocolVersion: '1.0',
  };
}

function encodeCapabilities(facts: CardFacts): JsonObject {
  const { streaming, pushNotifications, extendedAgentCard } = facts.capabilities;
  return { streaming, pushNotifications, extensions: [encodeSkillsExtension(facts.skills)], extendedAgentCard };
}

/** `AgentSkill` has no field for schemas, so they travel here; `required` is false, which ProtoJSON leaves out. */
function encodeSkillsExtension(skills: readonly SkillFacts[]): JsonObject {
  const params = skills.map((skill): [string, Json] => [
    skill.id,
    {
      ...(skill.inputSchema === undefined ? {} : { input: skill.inputSchema }),
      ...(skill.outputSchema === undefined ? {} : { output: skill.outputSchema }),
      kind: skill.kind,
    },
  ]);
  return {
    uri: SKILLS_EXTENSION_URI,
    description: 'JSON Schemas of what each skill takes and returns, and whether it makes a task or replies at once.',
    params: { skills: Object.fromEntries(params) },
  };
}

function encodeSkill(skill: SkillFacts): JsonObject {
  const { tags = [], examples = [], inputModes = [], outputModes = [] } = skill;
  return {
    id: skill.id,
    name: skill.name ?? skill.id,
    description: skill.description,
    tags: tags.length === 0 ? [skill.kind] : tags,
    ...(examples.length === 0 ? {} : { examples }),
    ...(inputModes.length === 0 ? {} : { inputModes }),
    ...(outputModes.length === 0 ? {} : { outputModes }),
  };
}

function encodeRequirement(requirement: Readonly<Record<string, readonly string[]>>): JsonObject {
  const schemes = Object.entries(requirement).map(([name, scopes]): [string, Json] => [
    name,
    scopes.length === 0 ? {} : { list: scopes },
  ]);
  return { schemes: sorted(Object.fromEntries(schemes)) };
}

function isEmpty(map: JsonObject): boolean {
  return Object.keys(map).length === 0;
}

/** The same value with its keys in order, at every depth. */
function sorted<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map(sorted) as unknown as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)])) as T;
}
