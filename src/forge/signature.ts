import { createHmac, timingSafeEqual } from 'node:crypto'

/** True if a header contains the HMAC-SHA-256 of a body in hexadecimal digits. Compares in constant time. */
export function isHmacOf(secret: string, body: Buffer, header: string | string[] | undefined): boolean {
  const expected = createHmac('sha256', secret).update(body).digest()
  const given = Buffer.from(typeof header === 'string' && /^[0-9a-f]{64}$/.test(header) ? header : '', 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
