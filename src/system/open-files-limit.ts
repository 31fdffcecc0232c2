import { readFileSync } from 'node:fs'

/** Default limit of most systems. */
const usual = 1024

/** Returns how many files this process may have open at once. */
export function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft ?? usual)
  } catch {
    return usual // not Linux
  }
}
