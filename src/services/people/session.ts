/** What a person may do in a tenant: an administrator is a curator who also manages keys, people, webhooks and settings. */
export type PersonRole = 'reader' | 'curator' | 'admin'

/** A person who is signed in, at work in one tenant. Ids are UUIDv7. */
export type Session = {
  id: string
  user: { id: string; email: string; name: string }
  tenant: { id: string; slug: string }
  role: PersonRole
  /** All that the person may switch to, this one included. */
  tenants: readonly { id: string; slug: string; role: PersonRole }[]
}
