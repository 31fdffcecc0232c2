import { createHmac, timingSafeEqual } from 'node:crypto'
import { createSecret } from '../state/accounts/secret.ts'
import type { User } from '../state/accounts/users.ts'

/** Seconds for which a browser is remembered after its last sign-in. */
export const deviceAge = 180 * 24 * 60 * 60
const shape = /^(?<id>[\w-]{43})\.(?<end>\d{1,12})\.(?<mac>[\w-]{43})$/

type Owner = Pick<User, 'id' | 'passwordHash'>

/** Returns a token proving that this browser has signed in as the user before. It becomes invalid when the password changes. */
export function proveDevice(user: Owner, now: Date): string | undefined {
  const [id, end] = [createSecret(), Math.floor(now.getTime() / 1000) + deviceAge]
  const mac = macOf(user, id, end)?.toString('base64url')
  return mac && `${id}.${end}.${mac}`
}

/** Returns the id of the browser in such a token; undefined if it is not valid for this user. */
export function provenDevice(user: Owner | undefined, proof: string | undefined, now: Date): string | undefined {
  const { id = '', end = '', mac = '' } = shape.exec(proof ?? '')?.groups ?? {}
  const expected = user && macOf(user, id, Number(end))
  if (expected === undefined || Number(end) * 1000 <= now.getTime()) return undefined
  const given = Buffer.from(mac, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined
}

/** Uses the password hash as the MAC key, so the token ends with the password. Whoever holds the hash can guess offline anyway. */
function macOf({ id: userId, passwordHash }: Owner, id: string, end: number): Buffer | undefined {
  if (passwordHash === null) return undefined
  return createHmac('sha256', passwordHash).update(`device ${userId} ${id} ${end}`).digest()
}
