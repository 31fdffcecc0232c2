import { forgetSent } from './draft.ts'

/** Forgets the drafts that were sent from this browser and accepted. */
async function forgetSentDrafts(): Promise<void> {
  await forgetSent(localStorage, async (candidate) => {
    const answer = await fetch(`/edits/${encodeURIComponent(candidate)}`, { headers: { accept: 'application/json' } })
    return answer.ok && (await answer.json()).isSubmitted === true
  })
}

// Without storage there are no drafts, and without a connection they stay.
export const forgotten: Promise<void> = forgetSentDrafts().catch(() => {})
