import { afterEach, test, vi } from 'vitest'
import { type FaultName, forgeNames, meetFaults } from './forge-calls.ts'

afterEach(() => void vi.restoreAllMocks())

/** Faults after which something was refused, or was done without anybody hearing of it. They take turns. */
const puzzling: FaultName[] = ['404', 'lost answer', '409', 'cut answer', '422']
/** Faults that end a comparison, and nothing else: one forge will do. */
const failing: FaultName[] = ['403', '403 for a limit', '429', '500', '502', '503', 'no answer']

/** Each call meets one fault of each sort; `npm run test:faults` has each call to each forge meet all of them. */
test.for(forgeNames)('whatever fault a call to %s meets, both sides agree afterwards', (name) =>
  meetFaults(name, name === 'GitHub' ? [puzzling, failing] : [puzzling]),
)
