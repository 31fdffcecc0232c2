import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hashToken } from './api-token.ts'

const shape = /^[\w-]{43}$/

/** 256 random bits as 43 URL-safe characters: of a session, or of a one-time link. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Under which the secret is stored; undefined if it cannot be one of ours. */
export function hashSecret(secret: string): string | undefined {
  return shape.test(secret) ? hashToken(secret) : undefined
}

const hashed = 'sha256:'

/** Returns a secret of a client as it is stored: random, so that its hash is enough to compare it with. */
export function hashedSecret(secret: string): string {
  return secret.startsWith(hashed) ? secret : hashed + hashToken(secret)
}

/** @param stored see {@link hashedSecret} */
export function matchesSecret(secret: string, stored: string): boolean {
  const [given, known] = [hashed + hashToken(secret), stored].map((text) => Buffer.from(text))
  return given !== undefined && known?.length === given.length && timingSafeEqual(given, known)
}
