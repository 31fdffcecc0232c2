import type { Question } from '../answerer.ts'
import { type Extract, extract } from './extract-answerer.ts'

/** Runs in a worker thread. */
export default function answer(question: Question): Extract {
  return extract(question)
}
