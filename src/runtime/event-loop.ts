/** Turns in which code that a promise has just woken goes as far as it can without waiting for something outside. */
const QUIET_TURNS = 2;

/** Resolves when whoever was woken by now has had a chance to go on. Not a wait for time: no clock moves it. */
export async function letOthersGoOn(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURNS; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
