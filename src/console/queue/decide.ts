import { z } from 'zod'
import { CandidateComment, CandidateEdit, Dismissal } from '../../contract/candidates.ts'
import { parseSent } from '../../contract/faults.ts'
import type { CandidateReview } from '../../review/review-candidate.ts'
import { proposedEdit, type TypedEdit } from './edit-form.ts'

const text = z.string().default('')

const EditFields = CandidateEdit.extend({
  tags: z.string().transform(tagsIn).pipe(CandidateEdit.shape.tags.unwrap()).exactOptional(),
})

/** The fields of the forms that decide; what they hold is checked when it is used, so that what was typed can be shown again. */
export const ApproveForm = z.object({
  seen: text,
  base: z.string().optional(),
  title: z.string().optional(),
  content: z.string().optional(),
  tags: z.string().optional(),
})
export const DismissForm = z.object({ seen: text, reason: text })
export const CommentForm = z.object({ comment: text })

/** The edit that a form holds, with the line breaks that a browser sends as they are stored. */
export function typedEdit({ base, title, content, tags }: z.output<typeof ApproveForm>): TypedEdit | undefined {
  if (title === undefined || content === undefined) return undefined
  return { title, content: unixLines(content), tags: tags ?? '', base: base ?? '' }
}

/** What a curator has changed of what was proposed. @throws {ValidationError} */
export function editOf(review: CandidateReview, typed: TypedEdit): CandidateEdit {
  const proposed = proposedEdit(review)
  const isResolved = review.sides.conflict !== undefined
  const isEdited = isResolved || proposed.content !== typed.content
  return parseSent(EditFields, {
    ...(typed.title === proposed.title ? {} : { title: typed.title }),
    ...(typed.tags === proposed.tags ? {} : { tags: typed.tags }),
    ...(isEdited ? { content: typed.content } : {}),
    ...(isEdited && typed.base !== '' ? { base: typed.base } : {}),
  })
}

export function dismissalOf({ reason }: z.output<typeof DismissForm>): Dismissal {
  return parseSent(Dismissal, reason.trim() === '' ? {} : { reason: unixLines(reason) })
}

export function commentOf({ comment }: z.output<typeof CommentForm>): CandidateComment {
  return parseSent(CandidateComment, { comment: unixLines(comment) })
}

function tagsIn(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((tag) => tag.trim().replace(/^#/, '')))].filter((tag) => tag !== '')
}

function unixLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}
