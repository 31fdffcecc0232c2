import type { Session } from '../../services/people/session.ts'

/** Who looks at a page, and at which. */
export type Visit = {
  session: Session
  /** Path and query of the page. */
  path: string
  /** Shows that a form came from a page of ours. */
  formToken: string
}
