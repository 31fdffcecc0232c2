import { readFileSync } from 'node:fs'

/** Default limit on most systems. */
const usual = 1024

/** Returns the maximum number of files that this process may have open. */
export function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft ?? usual)
  } catch {
    return usual // There is no such file outside of Linux.
  }
}
