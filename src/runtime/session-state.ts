import { decodeJournalValue, encodeJournalValue } from '../agent/codec.ts';
import type { Json } from '../base/json.ts';
import { checkKey } from '../model/ids.ts';
import type { Fact } from '../store/contract.ts';
import { untilAnswered } from './backoff.ts';
import type { RunContext } from './run-context.ts';
import { rowEmission } from './step.ts';

/** What a write takes beside its key and its value: two rows. */
const FACT_BYTES = 256;

/**
 * State of the session, as a turn reads and writes it. What was read is kept in the journal and what was written is
 * noted there, in the transaction of the turn's next events: a turn that runs again sees what it saw, and does not put
 * its old values over what other turns have written since.
 */
export class SessionState {
  readonly #context: RunContext;
  /** Writes of this run; the store may not have them yet. */
  readonly #written = new Map<string, string | undefined>();

  constructor(context: RunContext) {
    this.#context = context;
  }

  get(key: string): Promise<Json | undefined> {
    return this.#context.phase.call(async () => {
      checkKey(key, 'turn.state.get(key)');
      const { journal, emitter } = this.#context;
      const rowKey = journal.nextKey('state-get', key);
      const found = journal.find(rowKey);
      if (found?.result !== undefined) return decodeJournalValue(found.result) as Json | undefined;
      const text = this.#written.has(key) ? this.#written.get(key) : await this.#read(key);
      const value = text === undefined ? undefined : (decodeJournalValue(text) as Json);
      const result = encodeJournalValue(value, `turn.state.get("${key}") found`);
      emitter.attach(rowEmission(journal.row({ key: rowKey, kind: 'step', state: 'done', result })));
      return value;
    });
  }

  set(key: string, value: Json | undefined): void {
    const { journal, emitter, phase } = this.#context;
    if (!phase.isLive) return;
    checkKey(key, 'turn.state.set(key)');
    const text = value === undefined ? undefined : encodeJournalValue(value, `turn.state.set("${key}") was given`);
    const rowKey = journal.nextKey('state-set', key);
    if (journal.find(rowKey) !== undefined) return;
    this.#written.set(key, text);
    const facts: readonly Fact[] = [
      { kind: 'session-state', key, value: text },
      { kind: 'journal', entry: journal.row({ key: rowKey, kind: 'step', state: 'done', result: 'null' }) },
    ];
    emitter.attach({ facts, bytes: FACT_BYTES + key.length + (text?.length ?? 0) });
  }

  #read(key: string): Promise<string | undefined> {
    const { parts, grant, signal } = this.#context;
    return untilAnswered(parts, signal, () => parts.store.readSessionState(grant.sessionNo, key));
  }
}
