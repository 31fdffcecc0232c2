import { ValidationError } from './errors.ts'

/** Encodes the position of the next page as an opaque cursor. */
export function encodeCursor(place: string): string {
  return Buffer.from(place).toString('base64url')
}

/** @throws {ValidationError} if no page has this position */
export function decodeCursor(cursor: string, isPlace: (place: string) => boolean): string {
  const place = Buffer.from(cursor, 'base64url').toString()
  if (!isPlace(place)) throw new ValidationError({ cursor: ['must come from an earlier answer'] })
  return place
}
