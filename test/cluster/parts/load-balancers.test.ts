import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { candidateIdFor } from '../../../src/rules/candidates/candidate-id.ts'
import { type LoadBalancer, startLoadBalancer } from '../support/load-balancer.ts'

const kbs = Array.from({ length: 40 }, (_, index) => `kb${index}`)

/** A server that answers with its number. */
async function node(number: number): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end(String(number)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 }
}

test.each<LoadBalancer>(['haproxy', 'nginx'])(
  '%s sends what is about one knowledge base to one node',
  async (program) => {
    const nodes = await Promise.all([1, 2, 3].map(node))
    const url = await startLoadBalancer(
      program,
      nodes.map(({ port }) => port),
    )
    const ask = async (path: string, options: RequestInit = {}) => (await fetch(url + path, options)).text()
    const ofReads = new Map<string, string>()
    for (const kb of kbs) {
      const paths = [
        `/api/v1/knowledge-bases/${kb}/neurons`,
        `/api/v1/neurons/${kb}/${kb}_00000001`,
        `/git/acme/${kb}.git/info/refs?service=git-upload-pack`,
        `/git/other/${kb}.git/git-upload-pack`,
        `/api/v1/search?q=word&kb=${kb}`,
      ]
      const answers = new Set(await Promise.all(paths.map((path) => ask(path))))
      expect([kb, ...answers]).toHaveLength(2)
      ofReads.set(kb, [...answers].join())
    }
    expect(new Set(ofReads.values())).toEqual(new Set(['1', '2', '3']))
    const ofDecisions = await Promise.all(
      kbs.map(async (kb) => {
        const ids = [candidateIdFor(kb), candidateIdFor(kb)]
        const decide = (id: string) => ask(`/api/v1/queue/candidates/${id}/approve`, { method: 'POST', body: '{}' })
        const [one, other] = await Promise.all(ids.map(decide))
        expect(other).toBe(one)
        return one
      }),
    )
    expect(new Set(ofDecisions)).toEqual(new Set(['1', '2', '3']))
    const submit = (key: string) =>
      ask('/api/v1/queue/candidates', { method: 'POST', body: '{}', headers: { authorization: `Bearer ${key}` } })
    const ofKeys = await Promise.all(kbs.map(async (key) => [await submit(key), await submit(key)]))
    for (const [one, other] of ofKeys) expect(other).toBe(one)
    expect(new Set(ofKeys.flat())).toEqual(new Set(['1', '2', '3']))
  },
)

test.each<LoadBalancer>(['haproxy', 'nginx'])('%s goes on with the nodes that are left', async (program) => {
  const nodes = await Promise.all([1, 2, 3].map(node))
  const url = await startLoadBalancer(
    program,
    nodes.map(({ port }) => port),
  )
  nodes[1]?.server.closeAllConnections()
  nodes[1]?.server.close()
  const answers = await Promise.all(kbs.map(async (kb) => (await fetch(`${url}/api/v1/neurons/${kb}/x`)).text()))
  expect(new Set(answers)).toEqual(new Set(['1', '3']))
})
