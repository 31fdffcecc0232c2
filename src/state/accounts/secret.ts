import { randomBytes } from 'node:crypto'
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
