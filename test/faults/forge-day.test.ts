import { expect, test } from 'vitest'
import { day } from '../e2e/forge/forge-day.ts'
import { bridgedTo, type FakeForge } from '../e2e/forge/forge-support.ts'
import { startGitea } from '../forge/support/described-gitea.ts'
import { startGitlab } from '../forge/support/described-gitlab.ts'
import { scaled } from './support/cycles.ts'

/** Number of steps: even a short run has enough for everything that people do in a day. */
const count = Math.max(20, scaled(60))
const size = { count, maxOpen: count - 10 }

/** Repeats without a separate process what `forge.test.ts` does to GitHub with kills. */
test.each<[string, () => Promise<FakeForge>]>([
  ['Gitea', () => startGitea('gitea')],
  ['Forgejo', () => startGitea('forgejo')],
  ['GitLab', startGitlab],
])(
  'after a long day on %s, cut off at one request after the other, both sides agree',
  { timeout: 600_000 },
  async (_, start) => {
    expect(await day(await bridgedTo(await start(), size), size)).toBeGreaterThan(size.maxOpen)
  },
)
