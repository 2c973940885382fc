import type { Engine } from './ports.ts';

/**
 * The free slots of the engine, less those that a commit in flight has asked for. Without it a burst of submits would
 * each see the one free slot and all be granted it.
 */
export interface SlotBook {
  /** Takes up to `max` slots that are free now; gives how many. */
  reserve(max: number): number;
  /** Gives back a reservation, of which `started` runs were handed to the engine; whoever waits for slots is told of what is left. */
  settle(reservation: Reservation): void;
  /** The same for the claim loop itself: it is the one who waits, and a claim that found nothing is no reason to claim again. */
  settleOwn(reservation: Reservation): void;
}

interface Reservation {
  readonly reserved: number;
  readonly started: number;
}

export function createSlotBook(engine: Pick<Engine, 'freeSlots' | 'exclusive'>, onFreed: () => void): SlotBook {
  let reservedNow = 0;
  return {
    reserve(max) {
      const free = engine.exclusive ? 0 : engine.freeSlots() - reservedNow;
      const reserved = Math.max(0, Math.min(max, free));
      reservedNow += reserved;
      return reserved;
    },
    settle({ reserved, started }) {
      reservedNow -= reserved;
      if (started < reserved) onFreed();
    },
    settleOwn({ reserved }) {
      reservedNow -= reserved;
    },
  };
}
