import { z } from 'zod'

/** Normalizes an e-mail address, so that its spellings are equal. */
export function foldEmail(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** E-mail address. Parses to the normalized address, which identifies one person. */
export const Email = z
  .string()
  .max(1000)
  .transform(foldEmail)
  .pipe(
    z
      .string()
      .max(254, 'must be at most 254 characters')
      .regex(/^[^\s@<>"',;:\p{Cc}\p{Cf}\p{Cs}]+@[^\s@<>"',;:\p{Cc}\p{Cf}\p{Cs}]+$/u, 'must be an e-mail address'),
  )

/** Name of a person: one line without characters that could imitate another author in a commit. */
export const PersonName = z
  .string()
  .max(1000)
  .transform((text) =>
    text
      .normalize('NFC')
      .trim()
      .replace(/\p{Zs}+/gu, ' '),
  )
  .pipe(
    z
      .string()
      .regex(
        /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>\u202a-\u202e\u2066-\u2069]{1,100}$/u,
        'must be one line of 1 to 100 characters, without < and >',
      ),
  )

/** Normalizes a password: keyboards type the same character composed or decomposed. */
export function normalizePassword(text: string): string {
  return text.normalize('NFKC')
}

const minPassword = 12
const maxPassword = 200

export const NewPassword = z
  .string()
  .max(2000, `must be at most ${maxPassword} characters`)
  .transform(normalizePassword)
  .refine((text) => [...text].length >= minPassword, `must be at least ${minPassword} characters`)
  .refine((text) => [...text].length <= maxPassword, `must be at most ${maxPassword} characters`)
  .refine((text) => text.isWellFormed(), 'must be text')
