import { CodedError } from '../base/errors.ts';
import type { Artifact } from '../model/artifact.ts';
import type { StoredEvent } from '../model/event.ts';
import type { BlobPart, Message, Part } from '../model/message.ts';
import type { TaskContent } from '../model/task-fold.ts';
import type { SystemStore } from '../store/contract.ts';

type Reader = Pick<SystemStore, 'readBlobSlice'>;

/** Content with the bytes of its blobs in hand. What holds no blob is given back as it is, unread and uncopied. */
export async function resolveContent(store: Reader, content: TaskContent): Promise<TaskContent> {
  if (!holdsBlob(content)) return content;
  const { statusMessage } = content;
  return {
    history: await eachInOrder(content.history, (message) => resolveMessage(store, message)),
    artifacts: await eachInOrder(content.artifacts, (artifact) => resolveArtifact(store, artifact)),
    ...(statusMessage === undefined ? {} : { statusMessage: await resolveMessage(store, statusMessage) }),
  };
}

/** An event with the bytes of its blobs in hand. */
export async function resolveEvent(store: Reader, event: StoredEvent): Promise<StoredEvent> {
  if (event.kind === 'artifact-updated')
    return hasBlob(event.parts) ? { ...event, parts: await resolveParts(store, event.parts) } : event;
  if (event.kind !== 'message-received' && event.kind !== 'status-changed') return event;
  if (event.message === undefined || !hasBlob(event.message.parts)) return event;
  return { ...event, message: await resolveMessage(store, event.message) };
}

/** Parts with their blobs read into `raw` parts. */
export function resolveParts(store: Reader, parts: readonly Part[]): Promise<readonly Part[]> {
  return eachInOrder(parts, async (part) => (part.kind === 'blob' ? readBlob(store, part) : part));
}

function hasBlob(parts: readonly Part[]): boolean {
  return parts.some((part) => part.kind === 'blob');
}

function holdsBlob(content: TaskContent): boolean {
  return (
    content.artifacts.some((artifact) => hasBlob(artifact.parts)) ||
    content.history.some((message) => hasBlob(message.parts)) ||
    (content.statusMessage !== undefined && hasBlob(content.statusMessage.parts))
  );
}

async function resolveMessage(store: Reader, message: Message): Promise<Message> {
  return hasBlob(message.parts) ? { ...message, parts: await resolveParts(store, message.parts) } : message;
}

async function resolveArtifact(store: Reader, artifact: Artifact): Promise<Artifact> {
  return hasBlob(artifact.parts) ? { ...artifact, parts: await resolveParts(store, artifact.parts) } : artifact;
}

/** One after the other: a task with a hundred files must not hold all its slices in flight at once. */
async function eachInOrder<From, To>(items: readonly From[], change: (item: From) => Promise<To>): Promise<To[]> {
  const changed: To[] = [];
  for (const item of items) changed.push(await change(item));
  return changed;
}

async function readBlob(store: Reader, part: BlobPart): Promise<Part> {
  const { kind: _, blobNo, bytes, sha256: __, ...common } = part;
  const raw = new Uint8Array(bytes);
  let filled = 0;
  for (let sliceNo = 0; filled < bytes; sliceNo += 1) {
    const slice = await store.readBlobSlice(blobNo, sliceNo);
    if (slice === undefined || slice.length === 0 || filled + slice.length > bytes)
      throw new CodedError('internal', { cause: new Error(`blob ${blobNo} is not whole at slice ${sliceNo}`) });
    raw.set(slice, filled);
    filled += slice.length;
  }
  return { kind: 'raw', raw, ...common };
}
