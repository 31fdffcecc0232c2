import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { Product } from '../support.ts'

export const kb = '/api/v1/knowledge-bases/handbook'
export const text = Buffer.from('# VIP\n\nWhen a VIP customer raises a ticket, page the lead.\n')
export const hash = createHash('sha256').update(text).digest('hex')

export async function begin({ request, tokens }: Product, input: object = {}, query = '') {
  const body = { filename: 'vip.md', fileSize: text.length, ...input }
  return request('POST', `${kb}/documents/upload/init${query}`, { as: tokens.app, body })
}

export async function beginOk(product: Product, input: object = {}, query = ''): Promise<string> {
  const { status, body } = await begin(product, input, query)
  expect(status).toBe(201)
  return String(body.uploadId)
}

export function send(product: Product, id: string, first: number, bytes: Buffer, range?: string) {
  const last = first + bytes.length - 1
  return product.request('PATCH', `/api/v1/uploads/${id}/chunk`, {
    as: product.tokens.app,
    headers: {
      'content-range': range ?? `bytes ${first}-${last}/${text.length}`,
      'content-type': 'application/octet-stream',
    },
    body: Uint8Array.from(bytes),
  })
}

export const finalize = ({ request, tokens }: Product, id: string, query = '') =>
  request('POST', `/api/v1/uploads/${id}/finalize${query}`, { as: tokens.app })
export const status = ({ request, tokens }: Product, id: string) =>
  request('GET', `/api/v1/uploads/${id}`, { as: tokens.app })
