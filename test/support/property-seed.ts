import fc from 'fast-check';

/** One seed for all property tests, so that a run can be repeated; fast-check prints it with a failure. `PROPERTY_SEED` draws others. */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20_261_130) });
