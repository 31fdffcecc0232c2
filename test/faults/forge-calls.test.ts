import { afterEach, test, vi } from 'vitest'
import { type FaultName, faults, forgeNames, meetFaults } from '../e2e/forge/forge-calls.ts'

afterEach(() => void vi.restoreAllMocks())

const names = Object.keys(faults) as FaultName[]
/** The emulated GitHub takes 5,000 requests. */
const perForge = 3
const parts = forgeNames.flatMap((forge) =>
  Array.from(
    { length: names.length / perForge },
    (_, n) => [forge, names.slice(n * perForge, (n + 1) * perForge)] as const,
  ),
)

test.for(parts)('%s: each call meets each of %s, and both sides agree afterwards', ([forge, some]) =>
  meetFaults(
    forge,
    some.map((fault) => [fault]),
  ),
)
