/** Something that keeps a server or an operator's command from starting, said in one line to whoever started it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
