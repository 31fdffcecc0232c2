/**
 * Returns a function that returns the milliseconds since this call, by whichever clock has advanced more: the wall clock
 * can be set back, and the monotonic clock stops while a machine sleeps.
 */
export function startClock(): () => number {
  const [wall, steady] = [Date.now(), performance.now()]
  return () => Math.max(Date.now() - wall, performance.now() - steady)
}
