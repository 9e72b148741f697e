// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// @notice Executes user operations and emits what an EntryPoint of ERC-4337 emits, without signatures, gas and payment.
contract TestEntryPoint {
    struct UserOperation {
        address sender;
        uint256 nonce;
        bytes initCode;
        bytes callData;
        uint256 callGasLimit;
        uint256 verificationGasLimit;
        uint256 preVerificationGas;
        uint256 maxFeePerGas;
        uint256 maxPriorityFeePerGas;
        bytes paymasterAndData;
        bytes signature;
    }

    struct PackedUserOperation {
        address sender;
        uint256 nonce;
        bytes initCode;
        bytes callData;
        bytes32 accountGasLimits;
        uint256 preVerificationGas;
        bytes32 gasFees;
        bytes paymasterAndData;
        bytes signature;
    }

    event BeforeExecution();
    event UserOperationEvent(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed paymaster,
        uint256 nonce,
        bool success,
        uint256 actualGasCost,
        uint256 actualGasUsed
    );

    /// @notice As EntryPoint 0.6.
    function handleOps(UserOperation[] calldata ops, address payable) external {
        emit BeforeExecution();
        for (uint256 index = 0; index < ops.length; index++) execute(ops[index].sender, ops[index].callData);
    }

    /// @notice As EntryPoint 0.7 and above.
    function handleOps(PackedUserOperation[] calldata ops, address payable) external {
        emit BeforeExecution();
        for (uint256 index = 0; index < ops.length; index++) execute(ops[index].sender, ops[index].callData);
    }

    function execute(address sender, bytes calldata callData) private {
        (bool success,) = sender.call(callData);
        emit UserOperationEvent(keccak256(callData), sender, address(0), 0, success, 0, 0);
    }
}
