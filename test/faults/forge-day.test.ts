import { expect, test } from 'vitest'
import { day } from '../e2e/forge/forge-day.ts'
import { bridgedTo, type FakeForge } from '../e2e/forge/forge-support.ts'
import { startGitea } from '../forge/support/described-gitea.ts'
import { startGitlab } from '../forge/support/described-gitlab.ts'
import { scaled } from './support/cycles.ts'

/** In a short run as many as make people do everything that they do in a day. */
const count = Math.max(20, scaled(60))
const size = { count, maxOpen: count - 10 }

/** What `forge.test.ts` does to GitHub with kills, without a process of its own. */
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
