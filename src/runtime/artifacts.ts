import type { ArtifactOptions } from '../agent/turn.ts';
import type { Artifact } from '../model/artifact.ts';
import type { ArtifactId } from '../model/ids.ts';
import type { Part } from '../model/message.ts';
import type { Fact } from '../store/contract.ts';
import { LiveArtifact } from './artifact-writer.ts';
import type { Emission } from './emitter.ts';
import { type RunContext, turnId } from './run-context.ts';

/** The artifact that holds what a handler returned. */
const RESULT = 'result';

/** The artifacts of one run: those it writes, and those that earlier runs of the turn left. */
export class Artifacts {
  readonly #context: RunContext;
  readonly #logged: ReadonlyMap<ArtifactId, Artifact>;
  readonly #occurrences = new Map<string, number>();
  readonly #opened: LiveArtifact[] = [];

  constructor(context: RunContext) {
    this.#context = context;
    this.#logged = new Map(
      context.material.content.artifacts
        .filter(({ origin, turnNo }) => origin === 'output' && turnNo === context.grant.turn.turnNo)
        .map((artifact) => [artifact.artifactId, artifact]),
    );
  }

  /** The artifact of this name; opened again in one run, the name means another. */
  open(name: string, options: ArtifactOptions = {}): LiveArtifact {
    const occurrence = (this.#occurrences.get(name) ?? 0) + 1;
    this.#occurrences.set(name, occurrence);
    const artifactId = turnId(this.#context.grant, 'artifact', name, occurrence) as ArtifactId;
    const artifact = new LiveArtifact(this.#context, {
      artifactId,
      name,
      options,
      logged: this.#logged.get(artifactId),
    });
    this.#opened.push(artifact);
    return artifact;
  }

  /** Writes what a handler returned, whole. */
  writeResult(parts: readonly Part[]): Promise<void> {
    return this.open(RESULT).write(parts, true);
  }

  /** Closes what a handler that succeeded left open, once all that it appended is there. */
  async closing(): Promise<Emission> {
    for (const artifact of this.#opened) await artifact.staged();
    const closings = this.#opened
      .filter((artifact) => artifact.isTouched)
      .flatMap((artifact) => artifact.closing() ?? []);
    const bytes = closings.reduce((sum, closing) => sum + closing.bytes, 0);
    return { facts: closings.flatMap(({ facts }) => facts), bytes };
  }

  /** Takes back what an earlier run left half and this one did not take up: nobody will ever finish it. */
  discarding(): readonly Fact[] {
    const taken = new Set(this.#opened.filter((artifact) => artifact.isTouched).map(({ artifactId }) => artifactId));
    return [...this.#logged.values()]
      .filter(({ artifactId, closedSeq }) => closedSeq === undefined && !taken.has(artifactId))
      .map(({ artifactId }) => ({
        kind: 'event',
        event: { kind: 'artifact-discarded', artifactId, runNo: this.#context.grant.runNo },
      }));
  }
}
