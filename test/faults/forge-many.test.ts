import { expect, test } from 'vitest'
import { bridged } from '../e2e/forge/forge-support.ts'
import { submitted } from '../e2e/git/git-support.ts'

const count = 500
const maxOpen = 50
/** Requests that write before the forge wants to be left alone. */
const allowed = 60

test('500 waiting candidates take few requests, each that writes is sent once, and a limit is waited for', async () => {
  const { product, github, sync, open, restart } = await bridged()
  for (let n = 0; n < count; n += 25) {
    await Promise.all(Array.from({ length: 25 }, (_, at) => submitted(product, `Page ${n + at}`, `Of page ${n + at}.`)))
  }
  github.requests.length = 0
  const body = { message: 'You have exceeded a secondary rate limit.' }
  const limit = { status: 403, headers: { 'retry-after': '60' }, body }
  github.fail(/^POST .*\/(pulls|labels|check-runs)$/, limit, allowed)
  await expect(sync()).rejects.toMatchObject({ code: 'rate-limited' })
  const sent = github.requests.length
  await expect(sync()).rejects.toMatchObject({ code: 'rate-limited' })
  expect(github.requests).toHaveLength(sent)
  // A minute later, by another clock.
  restart()
  expect(await sync()).toBeUndefined()
  expect(await open()).toHaveLength(maxOpen)
  const [git, api] = [[] as string[], [] as string[]]
  for (const request of github.requests) (request.includes('.git/') ? git : api).push(request)
  const writes = api.filter((request) => /^POST .*\/(pulls|labels|check-runs)$/.test(request))
  // An open, a label and a report for each, and the one that was refused.
  expect(writes).toHaveLength(3 * maxOpen + 1)
  console.log(`${count} candidates: ${api.length} requests to the API, ${git.length} of git`)
  // After a cut a read for each that was not opened, and one for each that was.
  expect(api.length).toBeLessThan(writes.length + maxOpen + 20)
  expect(git.length).toBeLessThan(7)
  github.requests.length = 0
  await sync()
  expect(github.requests.filter((request) => /^(POST|PATCH|PUT) (?!.*git-upload-pack)/.test(request))).toEqual([])
})
