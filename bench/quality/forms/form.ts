import type { Collection } from '../collection.ts'

/** A way in which test collections are distributed. */
export type Form = {
  /** A file that a folder of this form has and no other. */
  marker: string
  read: (folder: string) => Promise<Omit<Collection, 'name'>>
}
