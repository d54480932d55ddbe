// The mock server of models, with one key that it takes.
const { LLMock } = require("@copilotkit/aimock");
const mock = new LLMock({ port: Number(process.env.PORT), auth: { apiKeys: ["right-key"] } });
mock.addFixtures([{ match: { model: "m-1" }, response: { content: "hello" } }]);
mock.start();
