import { CodedError } from '../base/errors.ts';
import type { Verb } from './verb.ts';

/** The card declares no extended card, so asking for one is UnsupportedOperation (A2A 1.0 §3.3.4). */
export const getExtendedAgentCard: Verb<void, never> = {
  async run() {
    throw new CodedError('unsupported_operation', {
      message: 'This agent has no extended card; its public card at /.well-known/agent-card.json is complete.',
    });
  },
};
