import { kbPage } from '../../contract/console-paths.ts'
export function chatPage(kbSlug: string, id?: string): string {
  const path = `${kbPage(kbSlug)}/chat`
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`
}

export function feedbackPage(kbSlug: string, id: string, turn: string): string {
  return `${chatPage(kbSlug, id)}/turns/${encodeURIComponent(turn)}/feedback`
}

export function turnId(id: string): string {
  return `turn-${id}`
}
