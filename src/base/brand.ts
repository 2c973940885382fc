declare const brand: unique symbol;

/** A `T` that only its own parser can make, so that one id never passes for another. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
