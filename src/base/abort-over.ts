/**
 * The reason of an abort that only says that a wait is no longer needed. One object for all: making one takes a stack,
 * which costs more than most of the waits that it ends.
 */
export const OVER = new DOMException('It is no longer needed.', 'AbortError');
