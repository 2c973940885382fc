import type { Agent } from '../agent/definition.ts';
import { CodedError } from '../base/errors.ts';
import type { AgentDirectory } from '../runtime/ports.ts';

/** The agents of a server by name; the first is the default one unless another is named. Throws for a name that stands twice. */
export function createAgentDirectory(agents: readonly Agent[], defaultName?: string): AgentDirectory {
  const byName = new Map<string, Agent>();
  for (const agent of agents) {
    if (byName.has(agent.name)) throw refused(`Two agents are called "${agent.name}". Give one of them another name.`);
    byName.set(agent.name, agent);
  }
  const defaultAgent = defaultName === undefined ? agents[0] : byName.get(defaultName);
  if (defaultAgent === undefined) {
    throw refused(
      defaultName === undefined
        ? 'There is no agent to serve.'
        : `defaultAgent: there is no agent "${defaultName}". There are ${[...byName.keys()].join(', ')}.`,
    );
  }
  return { all: agents, defaultAgent, find: (name) => byName.get(name) };
}

function refused(message: string): CodedError {
  return new CodedError('invalid_argument', { message });
}
