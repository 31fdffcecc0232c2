import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { AgentKeeper, askToConnect, connectedAgent } from '../support/agent.ts'
import { listening } from '../support/listening.ts'
import { violationsOf } from './support/axe.ts'
import { stageForFile } from './support/stage.ts'

const stage = stageForFile()

/** Starts the page at which an agent waits for the person to return. */
async function startCallback(): Promise<{ url: string; next: () => Promise<URLSearchParams> }> {
  const server = createServer((_, response) => void response.end('<p>Done</p>'))
  const url = `${await listening(server)}/callback`
  return {
    url,
    async next() {
      const [request] = (await once(server, 'request')) as [IncomingMessage]
      return new URL(request.url ?? '', url).searchParams
    },
  }
}

test('a person lets an agent in on a page of the console, and disconnects it', async () => {
  const { url } = stage()
  const { page } = await stage().enter('curator', {
    email: 'ada@example.com',
    name: 'Ada',
    viewport: { width: 320, height: 640 },
  })
  const callback = await startCallback()
  const keeper = new AgentKeeper(callback.url)
  const transport = await askToConnect(url, keeper)
  expect(new URL(keeper.sentTo).searchParams.get('code_challenge_method')).toBe('S256')

  await page.goto(keeper.sentTo)
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Connect Test agent?')
  expect(await page.locator('main li').count()).toBeGreaterThan(0)
  expect(await violationsOf(page)).toEqual([])
  const back = callback.next()
  await page.getByRole('button', { name: 'Connect' }).click()
  await transport.finishAuth(await back)
  await page.waitForURL((at) => at.href.startsWith(callback.url))
  const client = await connectedAgent(url, keeper)
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('propose')

  await page.goto(`${url}/account`)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Disconnect Test agent' }).click()
  expect(await page.getByText('The agent is disconnected').isVisible()).toBe(true)
  await expect(client.listTools()).rejects.toThrow()
})

test('a person refuses an agent', async () => {
  const { page } = await stage().enter('reader', { email: 'bob@example.com' })
  const callback = await startCallback()
  const keeper = new AgentKeeper(callback.url)
  await askToConnect(stage().url, keeper)
  await page.goto(keeper.sentTo)
  expect(await page.getByText('It may also propose').count()).toBe(0)
  const back = callback.next()
  await page.getByRole('button', { name: 'Refuse' }).click()
  expect((await back).get('error')).toBe('access_denied')
})
