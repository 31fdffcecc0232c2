import { afterEach, test, vi } from 'vitest'
import { type FaultName, forgeNames, meetFaults } from './forge-calls.ts'

afterEach(() => void vi.restoreAllMocks())

/**
 * Each call is refused once, and once done without anybody hearing of it. GitHub's each also fail in ways that just end a comparison.
 * The faults take turns; `npm run test:faults` has each call meet all of them.
 */
const rounds: FaultName[][] = [
  ['404', 'lost answer', '409', 'cut answer'],
  ['lost answer', '422', 'cut answer', '404'],
]
const failing: FaultName[] = ['403', '403 for a limit', '429', '500', '502', '503', 'no answer']

test.for(forgeNames)('whatever fault a call to %s meets, both sides agree afterwards', { timeout: 60_000 }, (name) =>
  meetFaults(name, name === 'GitHub' ? [...rounds, failing] : rounds),
)
