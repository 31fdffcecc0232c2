import { z } from 'zod'
import { PersonRole } from '../../contract/vocabulary.ts'

/** Comma-separated `<group>=<role>`. The group `*` contains everyone. */
export const GroupRoles = z.string().transform((text, context) => {
  const roles = new Map<string, PersonRole>()
  for (const pair of text.split(',')) {
    const at = pair.lastIndexOf('=')
    const role = PersonRole.safeParse(pair.slice(at + 1).trim())
    const group = pair.slice(0, Math.max(at, 0)).trim()
    if (!role.success || group === '') {
      context.addIssue('must be like ganglion-admins=admin,staff=curator,*=reader')
      return z.NEVER
    }
    roles.set(group, role.data)
  }
  return roles
})

/** True if a request to the URL is encrypted or does not leave the machine. */
export function isPrivateOrEncrypted(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
}
