import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Delivery } from '../forge.ts'

/** What a signing token begins with; the rest is the key in base64. */
const signingPrefix = 'whsec_'

/**
 * Whether a delivery comes from somebody who knows a webhook's secret. A signing token signs as the Standard Webhooks specification
 * has it; any other secret comes as it is. An old delivery counts too: all that it does is to have both sides compared.
 * Compares in constant time.
 */
export function isGitlabDelivery(secret: string, { headers, body }: Delivery): boolean {
  if (!secret.startsWith(signingPrefix)) return isEqual(secret, textOf(headers['x-gitlab-token']))
  const key = Buffer.from(secret.slice(signingPrefix.length), 'base64')
  const signed = `${textOf(headers['webhook-id'])}.${textOf(headers['webhook-timestamp'])}.`
  const expected = `v1,${createHmac('sha256', key).update(signed).update(body).digest('base64')}`
  const given = textOf(headers['webhook-signature']).split(' ')
  return key.length > 0 && given.filter((signature) => isEqual(expected, signature)).length > 0
}

function isEqual(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return first !== undefined && second !== undefined && timingSafeEqual(first, second)
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}
