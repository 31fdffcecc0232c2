import { ValidationError } from './errors.ts'

/** Where a listing goes on, as its client sends it back. */
export function encodeCursor(place: string): string {
  return Buffer.from(place).toString('base64url')
}

/** @throws {ValidationError} where the place is none that a page can have given. */
export function decodeCursor(cursor: string, isPlace: (place: string) => boolean): string {
  const place = Buffer.from(cursor, 'base64url').toString()
  if (!isPlace(place)) throw new ValidationError({ cursor: ['must be the nextCursor of an earlier answer'] })
  return place
}
