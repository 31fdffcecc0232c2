import { Script } from 'node:vm'

/** Milliseconds between two checks. V8 forgets an allocation after some 100 seconds. */
const interval = 30_000

/**
 * Lets V8 release memory when this thread is idle: it then collects garbage and shrinks the heap, some 30 seconds after the work.
 * V8 13 and 14 (Node 24 and 26) take a thread without allocations outside of the JavaScript heap for a busy one
 * (https://github.com/nodejs/node/issues/66564). A compiled script is such an allocation.
 * @returns a function that ends it
 */
export function giveMemoryBackWhenIdle(): () => void {
  const allocate = () => void new Script('')
  allocate()
  const timer = setInterval(allocate, interval).unref()
  return () => clearInterval(timer)
}
