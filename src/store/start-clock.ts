/**
 * Measures a time by the clock that says more: the wall clock can be set back, and the other one stands still while a machine sleeps.
 * @returns milliseconds since it was called
 */
export function startClock(): () => number {
  const [wall, steady] = [Date.now(), performance.now()]
  return () => Math.max(Date.now() - wall, performance.now() - steady)
}
