import { expect, onTestFinished } from 'vitest'
import { verify } from '../../../src/operate/verify/verify.ts'
import { type Product, startProduct } from '../support.ts'

/** Candidates of `handbook`, by title. */
export async function candidates(product: Product, status: string): Promise<Record<string, unknown>[]> {
  const path = `/api/v1/queue/candidates?kb=handbook&status=${status}&limit=100`
  const { body } = await product.request('GET', path, { as: product.tokens.curator })
  const found = body.candidates as Record<string, unknown>[]
  return found.sort((a, b) => (String(a.title) < String(b.title) ? -1 : 1))
}

/** Submits a candidate as an app does, and gives its id. */
export async function submitted(
  product: Product,
  title: string,
  content: string,
  more: Record<string, unknown> = {},
): Promise<string> {
  const body = { kb: 'handbook', kind: 'external-feed', title, content, ...more }
  const answer = await product.request('POST', '/api/v1/queue/candidates', { as: product.tokens.app, body })
  return String(answer.body.candidateId)
}

export async function approve(product: Product, candidateId: string) {
  const path = `/api/v1/queue/candidates/${candidateId}/approve`
  return product.request('POST', path, { as: product.tokens.curator, body: {} })
}

/** A Neuron that came by a candidate; gives its seqId. */
export async function approved(product: Product, title: string, content: string): Promise<string> {
  return String((await approve(product, await submitted(product, title, content))).body.seqId)
}

export async function candidateDetail(product: Product, candidateId: string) {
  const path = `/api/v1/queue/candidates/${candidateId}`
  return (await product.request('GET', path, { as: product.tokens.curator })).body
}

export async function neuron(product: Product, seqId: string) {
  return product.request('GET', `/api/v1/neurons/handbook/${seqId}`, { as: product.tokens.curator })
}

export function correctionOf(seqId: string): Record<string, unknown> {
  return { kind: 'user-correction', metadata: { targetNeuron: seqId } }
}

/** A product whose repository, queue and projection are found sound when the test has ended. */
export async function soundProduct(options: Parameters<typeof startProduct>[0] = {}): Promise<Product> {
  const product = await startProduct(options)
  onTestFinished(async () => {
    const { kbs } = await verify(product.ctx)
    expect(kbs.flatMap(({ problems, notes }) => [...problems, ...notes])).toEqual([])
  })
  return product
}
