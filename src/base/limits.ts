/** Every bound that has a name. Configuration may lower one, never remove it. */
export const limits = {
  requestBytesMax: 16 * 1024 * 1024, // an 8 MiB part in base64 and its neighbours; larger files go by URL
  partBytesMax: 8 * 1024 * 1024, // decoded bytes of one raw part
  jsonDepthMax: 64, // real documents stay below 20; a stack is not a caller's to spend
  jsonValuesMax: 100_000, // members and elements of one body; more hold the loop of everybody for seconds
  partsMax: 256, // parts of one message or artifact update
  idCharsMax: 256, // ids that a client chooses
  keyBytesMax: 1024, // scopes and keys of session state in UTF-8; PostgreSQL indexes 2.7 kB of one row, and an id stands beside them
  pageItemsMax: 100, // A2A caps ListTasks at 100
  pageItemsDefault: 50, // A2A 1.0 §3.1.4
  referencesMax: 64, // referenceTaskIds and extensions of one message, output modes of one request
  violationsMax: 20, // faults of one request that are collected before it is refused
  inlineRawBytesMax: 64 * 1024, // larger raw parts are staged as blob slices, so that no commit blocks the loop
  blobSliceBytes: 256 * 1024, // one commit a slice
  eventsPerReadMax: 500, // one slow subscriber must not hold a long read open
  readBytesMax: 1024 * 1024, // a page of events ends after the event that passes this
  emitEventsMax: 256, // emissions waiting for their commit, per run; full means back-pressure
  emitBytesMax: 1024 * 1024,
  ringEventsMax: 1024, // events kept for local followers, per task with followers
  ringBytesMax: 1024 * 1024,
  ringsBytesMax: 64 * 1024 * 1024, // all rings of a process; above it each gets an even share
  idleRingsMax: 512, // rings of tasks that nobody follows yet, so that the follower of a fresh message reads no store
  idleRingsBytesMax: 4 * 1024 * 1024,
  frameBacklogBytesMax: 256 * 1024, // unread bytes per stream before its reader falls back to the store
  largeTaskBytes: 512 * 1024, // a task above this is written once for all who read it, and handed to them in pieces
  taskTextBytesMax: 128 * 1024 * 1024, // text of one task in one answer; files do not count, since they are not held
  heldTextsBytesMax: 256 * 1024 * 1024, // texts of large tasks that a process holds for those who read them
  knownLargeTasksMax: 4096, // tasks that are remembered as large, so that their text is not read before it is wanted
  heldSlicesBytesMax: 4 * 1024 * 1024, // slices of files that many readers are at
  journalValueBytesMax: 1024 * 1024,
  commandTriesMax: 8, // decide again this often when the task moved, then `overloaded`
  queuedTurnsMax: 16,
  crashesMax: 5,
  stepTriesMax: 3,
  errorTextCharsMax: 2_000, // text of ours or an author's in a status or an error
} as const;
