import { answer } from './answers.ts';
import { nativeAgent } from './encode.ts';
import type { NativeRoute } from './route.ts';

export const agentsRoute: NativeRoute = {
  name: 'listAgents',
  summary: 'The agents of this server.',
  async run({ parts }) {
    const { all, defaultAgent } = parts.agents;
    const agents = all.map((agent) =>
      nativeAgent(agent, { isDefault: agent === defaultAgent, url: `${parts.baseUrl()}/agents/${agent.name}` }),
    );
    return answer({ agents });
  },
};
