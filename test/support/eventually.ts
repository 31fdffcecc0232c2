import { vi } from 'vitest'

/** Looks again and again until nothing is thrown, for as long as a busy machine may take. */
export function eventually<T>(look: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(look, { timeout: 100_000, interval: 20 })
}
