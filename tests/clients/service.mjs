// The running service under test and its document.

export const SERVER = process.env.DOCENT_TEST_SERVER;
export const KEY = process.env.DOCENT_TEST_API_KEY;
export const GUIDE = "The Docent Guide.pdf";
export const QUESTION = "How long does an access token last?";
export const AUTHORITY = { Authorization: `Bearer ${KEY}` };
