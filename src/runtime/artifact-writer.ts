import { AgentCodeError } from '../agent/errors.ts';
import { ownParts } from '../agent/parts.ts';
import type { ArtifactOptions, ArtifactWriter, Chunk } from '../agent/turn.ts';
import { type JsonObject, jsonCopy } from '../base/json.ts';
import type { Artifact, ArtifactHeader } from '../model/artifact.ts';
import type { ArtifactUpdated } from '../model/event.ts';
import type { ArtifactId } from '../model/ids.ts';
import type { Part, PartCommon } from '../model/message.ts';
import type { Fact } from '../store/contract.ts';
import { ArtifactReplay, type ArtifactUpdate } from './artifact-replay.ts';
import { untilAnswered } from './backoff.ts';
import { needsStaging, type StagedParts, stageParts } from './blob-staging.ts';
import { digestBytes } from './content-digest.ts';
import type { Emission } from './emitter.ts';
import { partsBytes } from './event-bytes.ts';
import { holdsBlob, type RunContext } from './run-context.ts';

const EVENT_BYTES = 128;

export interface OpenedArtifact {
  readonly artifactId: ArtifactId;
  readonly name: string;
  readonly options: ArtifactOptions;
  /** What earlier runs left of it. */
  readonly logged: Artifact | undefined;
}

/**
 * One artifact as its handler writes it. Chunks keep their order: while large bytes are staged, what comes after them
 * waits behind them.
 */
export class LiveArtifact implements ArtifactWriter {
  readonly artifactId: ArtifactId;
  readonly #context: RunContext;
  readonly #header: ArtifactHeader;
  readonly #common: PartCommon;
  readonly #name: string;
  readonly #replay: ArtifactReplay;
  /** `touched`: this run has written to it, so it is this run's to close. */
  #state: 'untouched' | 'touched' | 'closed' = 'untouched';
  /** Why a chunk is missing. */
  #hole: { readonly error: unknown } | undefined;
  /** The last of the appends that wait for bytes to be staged. */
  #staging: Promise<void> | undefined;

  constructor(context: RunContext, opened: OpenedArtifact) {
    const { mediaType, ...described } = opened.options;
    this.artifactId = opened.artifactId;
    this.#context = context;
    this.#name = opened.name;
    const metadata = jsonCopy(described.metadata) as JsonObject | undefined;
    this.#header = { name: opened.name, ...described, ...(metadata === undefined ? {} : { metadata }) };
    this.#common = mediaType === undefined ? {} : { mediaType };
    this.#replay = new ArtifactReplay(opened.logged);
  }

  get isTouched(): boolean {
    return this.#state !== 'untouched';
  }

  append(chunk: Chunk, options: { readonly last?: boolean } = {}): Promise<void> {
    return this.#context.phase.call(() => this.write(this.#partsOf(chunk), options.last === true));
  }

  flush(): Promise<void> {
    return this.#context.phase.call(async () => {
      await this.staged();
      await this.#context.emitter.flush();
    });
  }

  close(): Promise<void> {
    return this.#context.phase.call(async () => {
      await this.staged();
      const closing = this.closing();
      if (closing !== undefined) await this.#context.emitter.emit(closing);
      await this.#context.emitter.flush();
    });
  }

  /** The append itself, which the runtime also calls for what a handler returned. */
  async write(given: readonly Part[], isLast: boolean): Promise<void> {
    const parts = ownParts(given, `Artifact "${this.#name}"`, (blob) => holdsBlob(this.#context.material, blob));
    this.#check(parts);
    this.#state = isLast ? 'closed' : 'touched';
    if (this.#staging === undefined && !needsStaging(parts)) {
      const update = this.#replay.append(parts, isLast);
      if (update !== undefined) await this.#context.emitter.emit(this.#emission(update, []));
      return;
    }
    const before = this.#staging;
    const staging = this.#writeLarge(before, parts, isLast).finally(() => {
      if (this.#staging === staging) this.#staging = undefined;
    });
    this.#staging = staging;
    await staging;
  }

  /** Resolves when no append waits for its bytes to be staged any more. */
  async staged(): Promise<void> {
    while (this.#staging !== undefined) await this.#staging.catch(() => {});
  }

  /** What closes the artifact; undefined when it is closed, or the log holds its end already. */
  closing(): Emission | undefined {
    if (this.#hole !== undefined) throw this.#hole.error;
    if (this.#state === 'closed') return undefined;
    this.#state = 'closed';
    const update = this.#replay.close();
    return update === undefined ? undefined : this.#emission(update, []);
  }

  async #writeLarge(before: Promise<void> | undefined, parts: readonly Part[], isLast: boolean): Promise<void> {
    await before?.catch(() => {});
    const update = this.#replay.append(parts, isLast, await this.#digests(parts));
    if (update === undefined) return;
    try {
      const staged = await this.#stage(update.parts);
      await this.#context.emitter.emit(this.#emission({ ...update, parts: staged.parts }, staged.blobs));
    } catch (error) {
      // The artifact has a hole now, so nothing that follows may be taken for whole.
      this.#hole = { error };
      this.#context.fail(error);
      throw error;
    }
  }

  /** Only a replay compares: the log knows large bytes by their digest. */
  async #digests(parts: readonly Part[]): Promise<ReadonlyMap<Part, string>> {
    const digests = new Map<Part, string>();
    if (!this.#replay.isFollowing) return digests;
    for (const part of parts) if (part.kind === 'raw') digests.set(part, await digestBytes(part.raw));
    return digests;
  }

  #stage(parts: readonly Part[]): Promise<StagedParts> {
    const { parts: runtime, lost } = this.#context;
    return untilAnswered(runtime, lost, () => stageParts(runtime.store, parts));
  }

  #partsOf(chunk: Chunk): readonly Part[] {
    if (typeof chunk === 'string' || (typeof chunk === 'object' && chunk !== null))
      return chunkParts(chunk, this.#common);
    const given = chunk === null ? 'null' : typeof chunk;
    throw new AgentCodeError(
      'output',
      `Artifact "${this.#name}" was given ${given}. A chunk is text, a Uint8Array, { data }, { url } or a list of parts.`,
    );
  }

  #check(parts: readonly Part[]): void {
    const { keepsContent, log } = this.#context;
    if (this.#state === 'closed') {
      log.warn('append after the last chunk', { artifact: this.#name });
      throw new AgentCodeError(
        'append-after-last',
        `Artifact "${this.#name}" was closed, and then a chunk was appended to it. Close it after the last chunk.`,
      );
    }
    if (!keepsContent && parts.some((part) => part.kind !== 'url' && part.kind !== 'data')) {
      throw contentNotKept(`Artifact "${this.#name}"`);
    }
  }

  #emission(update: ArtifactUpdate, blobs: StagedParts['blobs']): Emission {
    const { grant } = this.#context;
    const event: ArtifactUpdated = {
      kind: 'artifact-updated',
      artifactId: this.artifactId,
      origin: 'output',
      turnNo: grant.turn.turnNo,
      runNo: grant.runNo,
      ...(update.append ? {} : { header: this.#header }),
      ...update,
    };
    const fact: Fact = { kind: 'event', event, ...(blobs.length === 0 ? {} : { blobs }) };
    return { facts: [fact], bytes: EVENT_BYTES + partsBytes(update.parts) };
  }
}

/** What an agent that keeps no content is told when it writes some. */
export function contentNotKept(where: string): AgentCodeError {
  return new AgentCodeError(
    'content-not-kept',
    `${where} was given text or bytes, but this agent keeps no content (storeContent: false). Hand back urls, or data parts of ids.`,
  );
}

function chunkParts(chunk: Chunk, common: PartCommon): readonly Part[] {
  if (typeof chunk === 'string') return [{ kind: 'text', text: chunk, ...common }];
  if (chunk instanceof Uint8Array) return [{ kind: 'raw', raw: chunk, ...common }];
  if (Array.isArray(chunk)) return chunk as readonly Part[];
  return [
    'url' in chunk
      ? { kind: 'url', url: chunk.url, ...common }
      : { kind: 'data', data: (chunk as { data: never }).data, ...common },
  ];
}
