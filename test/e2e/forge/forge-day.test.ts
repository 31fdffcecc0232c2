import { expect, test } from 'vitest'
import { startGitea } from '../../forge/support/described-gitea.ts'
import { startGitlab } from '../../forge/support/described-gitlab.ts'
import { startGithub } from '../../forge/support/emulated-github.ts'
import { day } from './forge-day.ts'
import { bridgedTo, type FakeForge } from './forge-support.ts'

test.each<[string, () => Promise<FakeForge>]>([
  ['GitHub', startGithub],
  ['Gitea', () => startGitea('gitea')],
  ['GitLab', startGitlab],
])('after a day on %s, cut off at one request after the other, both sides agree', async (_, start) => {
  const size = { count: 9, maxOpen: 8 }
  expect(await day(await bridgedTo(await start(), size), size)).toBeGreaterThan(15)
})
