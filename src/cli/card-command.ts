import { cardFaults } from '../client/card-faults.ts';
import { decodeAgentCard } from '../protocol/v1/client-card.ts';
import { openAgent, readAgentCard } from './agent-session.ts';
import { CliError } from './cli-error.ts';
import type { ClientOptions, Flags } from './client-options.ts';
import type { Io } from './io.ts';
import { renderCard } from './render-card.ts';
import { Reporter } from './reporter.ts';

/** `card get`: the card of an agent; `--validate` holds it against A2A's schema, `--extended` asks for the one behind the login. */
export async function getCard(
  io: Io,
  { options, flags }: { readonly options: ClientOptions; readonly flags: Flags },
): Promise<void> {
  const json =
    flags.extended === true ? await extendedCard(io, options) : (await readAgentCard(io, options, io.interrupted)).json;
  const faults = flags.validate === true ? cardFaults(json) : [];
  if (faults.length > 0) {
    throw new CliError('A2ACLI_ERR_CARD_INVALID', `The card is not valid: ${faults.join('; ')}.`);
  }
  const reporter = new Reporter(io, options);
  reporter.document(json, () => renderCard(decodeAgentCard(json), json, options.verbose));
  if (flags.validate === true) reporter.note('The card is valid.');
}

async function extendedCard(io: Io, options: ClientOptions) {
  const agent = await openAgent(io, options);
  return await agent.client.call('GetExtendedAgentCard', {}, agent.signal);
}
