import type { Answer } from './answerer.ts'

export const extractName = 'extract'

/** By language, without region. A language that is not here is answered in English. */
const refusals: Readonly<Record<string, string>> = {
  da: 'Vidensbasen har ikke noget svar på det.',
  de: 'Die Wissensdatenbank enthält darauf keine Antwort.',
  en: 'The knowledge base does not hold an answer to this.',
  es: 'La base de conocimientos no contiene una respuesta a esto.',
  fr: 'La base de connaissances ne contient pas de réponse à cette question.',
  it: 'La base di conoscenza non contiene una risposta a questa domanda.',
  nb: 'Kunnskapsbasen har ikke noe svar på dette.',
  nl: 'De kennisbank bevat hier geen antwoord op.',
  pl: 'Baza wiedzy nie zawiera odpowiedzi na to pytanie.',
  pt: 'A base de conhecimento não contém uma resposta a esta pergunta.',
  sv: 'Kunskapsbasen har inget svar på detta.',
}

/** Says plainly that the knowledge base does not hold the answer. */
export function refusalIn(language: string): string {
  const [name = ''] = language.toLowerCase().split('-')
  return refusals[name === 'no' || name === 'nn' ? 'nb' : name] ?? refusals.en ?? ''
}

/** The answer where nothing supports one. Yields it whole. */
export async function* refuse(language: string): AsyncGenerator<string, Answer> {
  const text = refusalIn(language)
  yield text
  return { text, cited: [], answeredBy: extractName }
}

/** The answer to a question that names no knowledge base: nothing could ground one. Yields it whole. */
export async function* askForKnowledgeBase(): AsyncGenerator<string, Answer> {
  const text = 'Name the knowledge base that the question is about: `knowledgeBaseId`, a slug or a UUID.'
  yield text
  return { text, cited: [], answeredBy: extractName }
}
