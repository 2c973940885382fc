import type { Grant, TurnMaterial } from '../store/contract.ts';
import type { Lease } from './lease-keeper.ts';
import type { Engine } from './ports.ts';

/**
 * Hands a granted run to the engine. Not where the lease was lost while the grant was on its way: that run belongs to a
 * dead worker, and the sweep gives it to the next.
 */
export function beginRun(
  parts: { readonly engine: Pick<Engine, 'start'>; readonly lease: Lease },
  grant: Grant,
  material?: TurnMaterial,
): boolean {
  if (parts.lease.worker()?.workerNo !== grant.workerNo) return false;
  parts.engine.start(grant, material);
  return true;
}
