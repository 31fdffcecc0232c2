import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const shape = /^[\w-]{43}$/

/** Returns 256 random bits as 43 URL-safe characters, for a session or a one-time link. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the hash under which a secret is stored; undefined if the secret cannot be from this server. */
export function hashSecret(secret: string): string | undefined {
  return shape.test(secret) ? hashToken(secret) : undefined
}

const hashed = 'sha256:'

/** Returns the stored form of a client's secret. The secret is random, so a plain hash is enough. */
export function hashedSecret(secret: string): string {
  return secret.startsWith(hashed) ? secret : hashed + hashToken(secret)
}

/** True if a secret matches its stored form, see {@link hashedSecret}. Compares in constant time. */
export function matchesSecret(secret: string, stored: string): boolean {
  const [given, known] = [hashed + hashToken(secret), stored].map((text) => Buffer.from(text))
  return given !== undefined && known?.length === given.length && timingSafeEqual(given, known)
}

const PREFIX = 'gng_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = new RegExp(`^${PREFIX}([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`)

/** Returns a new token: `gng_`, 30 random base62 characters (178 bits), and their CRC32 in 6 base62 digits. */
export function createToken(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')
  return PREFIX + random + checksum(random)
}

/** True if a text has the form of a token, which rejects typos and false hits of secret scanners without a look-up. */
export function isToken(text: string): boolean {
  const match = SHAPE.exec(text)
  return match?.[1] !== undefined && checksum(match[1]) === match[2]
}

/** Returns the SHA-256 in hexadecimal. A token has enough entropy to need neither salt nor a slow hash. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

function checksum(random: string): string {
  let rest = crc32(random)
  let digits = ''
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}
